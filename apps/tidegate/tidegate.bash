# Completion of tidegate's commands, options and files in bash. To use it: source this file, or copy
# it as `tidegate` into /usr/share/bash-completion/completions.

_tidegate() {
  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD - 1]}"
  local command="${COMP_WORDS[1]}" options
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W "serve check why replay sim --help --version" -- "$word")
    return
  fi
  case "$before" in
    --listen | --server | --key | --threads | --drain | --policy | --seed | --seeds | --sweep-load)
      return ;;
    --oracle)
      mapfile -t COMPREPLY < <(compgen -W "lengths times" -- "$word")
      return ;;
  esac
  if [[ $word != -* ]]; then
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
    return
  fi
  case "$command" in
    serve)
      options="--config --listen --model --threads --log-file --journal --drain --policy --help" ;;
    check | replay) options="--json --help" ;;
    why) options="--journal --server --key --ca --json --help" ;;
    sim)
      options="--policy --seed --seeds --sweep-load --oracle --speed-augmentation --report --html \
--json --help" ;;
    *) return ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
}
complete -o filenames -F _tidegate tidegate
