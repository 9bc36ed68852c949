/** What is used of fft.js 4.0.4, which brings no types. A complex array holds real and imaginary parts in turn. */

declare module 'fft.js' {
  class FFT {
    /** Throws when the size is not a power of two above 1. */
    constructor(size: number)
    /** Forward transform of `size` complex numbers, no scaling; both arrays hold 2·size numbers. */
    transform(output: Float64Array, input: Float64Array): void
  }
  export = FFT
}
