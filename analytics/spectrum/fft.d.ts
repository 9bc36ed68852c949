/** The used part of fft.js 4.0.4, which has no types. A complex array has real and imaginary parts in turn. */

declare module 'fft.js' {
  class FFT {
    /** Throws unless the size is a power of two above 1. */
    constructor(size: number)
    /** Forward transform of `size` complex numbers, without scaling; both arrays have 2·size numbers. */
    transform(output: Float64Array, input: Float64Array): void
  }
  export = FFT
}
