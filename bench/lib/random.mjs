// A seeded generator, so that every server under test sees the same schedule and the same prompts.

export class Random {
  constructor(seed) {
    this.state_ = BigInt.asUintN(64, BigInt(seed));
  }

  // SplitMix64 [Steele, Lea and Flood 2014].
  next64() {
    this.state_ = BigInt.asUintN(64, this.state_ + 0x9e3779b97f4a7c15n);
    let z = this.state_;
    z = BigInt.asUintN(64, (z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
    z = BigInt.asUintN(64, (z ^ (z >> 27n)) * 0x94d049bb133111ebn);
    return z ^ (z >> 31n);
  }

  // In [0, 1), 53 bits.
  unit() {
    return Number(this.next64() >> 11n) / 2 ** 53;
  }

  // Uniform whole number in [low, high].
  between(low, high) {
    return low + Math.floor(this.unit() * (high - low + 1));
  }

  // Exponential with the given mean: the gaps of a Poisson process.
  exponential(mean) {
    return -Math.log(1 - this.unit()) * mean;
  }

  // Lower-case words of 2 to 9 letters, `length` characters in all.
  words(length) {
    let text = '';
    while (text.length < length) {
      for (let left = this.between(2, 9); left > 0; --left) {
        text += String.fromCharCode(97 + this.between(0, 25));
      }
      text += ' ';
    }
    return text.slice(0, length);
  }
}
