// Elements without markup in strings: whatever a name contains, it is text.

export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, '');
    else if (value != null && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child != null));
  return element;
}

export function section(id, title, lead, ...children) {
  return el('section', {id, 'aria-labelledby': id + '-title'},
    el('h2', {id: id + '-title'}, title), lead ? el('p', {class: 'lead'}, lead) : null, ...children);
}

// A labelled choice; options are [value, text]. Calls change(value).
export function choice(text, options, change) {
  const select = el('select', {onchange: () => change(select.value)},
    options.map(([value, shown]) => el('option', {value}, shown)));
  return el('label', {class: 'choice'}, text, select);
}

// columns: [heading, cell(row), {text: true for left-aligned}]; the first one heads its row.
export function table(caption, columns, rows, rowClass = () => null) {
  const side = (column) => (column[2]?.text ? 'text' : null);
  const head = el('tr', {}, columns.map((c) => el('th', {scope: 'col', class: side(c)}, c[0])));
  const body = rows.map((row) => el('tr', {class: rowClass(row)}, columns.map((column, i) =>
    el(i === 0 ? 'th' : 'td', {scope: i === 0 ? 'row' : null, class: side(column)}, column[1](row)))));
  return el('div', {class: 'sheet'}, el('p', {class: 'caption', 'aria-hidden': 'true'}, caption),
    el('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption},
      el('table', {'aria-label': caption}, el('thead', {}, head), el('tbody', {}, body))));
}
