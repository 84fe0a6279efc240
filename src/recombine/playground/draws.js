// The package's random numbers: keys and streams by address (recombine.tasks.draws), and the generator that
// torch draws initial weights with. So a seed means the same network on this page and in `rc.train`.

const MASK = (1n << 64n) - 1n, GAMMA = 0x9E3779B97F4A7C15n;

function mix(z) {
  z = ((z ^ (z >> 30n)) * 0xBF58476D1CE4E5B9n) & MASK;
  z = ((z ^ (z >> 27n)) * 0x94D049BB133111EBn) & MASK;
  return z ^ (z >> 31n);
}

function crc32(text) {
  let crc = ~0;
  for (const byte of new TextEncoder().encode(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xEDB88320 : 0);
  }
  return ~crc >>> 0;
}

export function key(...parts) {
  let state = 0n;
  for (const part of parts) {
    const number = typeof part === "string" ? BigInt(crc32(part)) | (1n << 40n) : BigInt(part);
    state = mix((state + GAMMA + (number & MASK)) & MASK);
  }
  return state;
}

// A stream of one purpose: number n is a hash of (stream, n).
export const purpose = (stream, word) => mix(stream ^ key(word));
export const dataStream = (seed, member, step) => mix((key(seed, member, "data") + GAMMA * BigInt(step + 1)) & MASK);

export function uniforms(stream, count, bits = 53) {
  const found = new Float64Array(count), drop = BigInt(64 - bits), unit = 2 ** -bits;
  for (let n = 0; n < count; n++) found[n] = Number(mix((stream + GAMMA * BigInt(n + 1)) & MASK) >> drop) * unit;
  return found;
}

// The Mersenne Twister as torch.manual_seed starts it and Tensor.uniform_ reads it: 24 bits per number.
export function torchGenerator(seed) {
  const state = new Uint32Array(624);
  state[0] = Number(BigInt(seed) & 0xFFFFFFFFn);
  for (let i = 1; i < 624; i++) state[i] = Math.imul(1812433253, state[i - 1] ^ (state[i - 1] >>> 30)) + i;
  let at = 624;
  function next() {
    if (at === 624) {
      for (let i = 0; i < 624; i++) {
        const y = (state[i] & 0x80000000) | (state[(i + 1) % 624] & 0x7FFFFFFF);
        state[i] = state[(i + 397) % 624] ^ (y >>> 1) ^ (y & 1 ? 0x9908B0DF : 0);
      }
      at = 0;
    }
    let y = state[at++];
    y ^= y >>> 11;
    y ^= (y << 7) & 0x9D2C5680;
    y ^= (y << 15) & 0xEFC60000;
    return (y ^ (y >>> 18)) >>> 0;
  }
  return (from, to) => {
    const low = Math.fround(from), wide = Math.fround(Math.fround(to) - low);
    return Math.fround((next() & 0xFFFFFF) * 2 ** -24 * wide + low);  // multiplied and added at once, as processors do
  };
}
