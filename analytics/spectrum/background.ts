/**
 * The local background of a spectrum, with which a peak is compared: red noise has high power at low frequencies
 * without any cycle.
 *
 * At f₀: least-squares line of ln P on ln f over one octave to both sides (at least 12.5/T, T being the series' span),
 * without |f − f₀| ≤ 2.5/T (the main lobe of the Hann window is 2/T wide to each side); three times, what lies more
 * than 2.2 above the line is dropped and the line fitted again. The mean of ln χ²₂ noise is e^0.5772 below the mean
 * power, so the line's exponential is raised by that much.
 */

import { isLocalMaximum, type Spectrum } from './periodogram.ts'

const eulerGamma = 0.5772156649015329
const dropAbove = 2.2
const dropRounds = 3
const leftOutCycles = 2.5
const reachMinCycles = 12.5
/** Relative to the largest power of the series: smaller power is rounding. */
const floorShare = 1e-12
/** Zero power would be an infinite outlier. */
const powerMin = 1e-300

/**
 * Up to this number, every bin is cheap to test exactly; beyond it, a line per quarter octave through a sample of the
 * bins screens them first.
 */
const exactCyclesMax = 64
const sampleMax = 256
const linesPerOctave = 4
/** The fraction of the golden section spreads a sample evenly, without resonance with a comb of lines. */
const goldenFraction = 0.6180339887498949

/** A line of ln P on ln(bin). */
interface Line {
  readonly slope: number
  readonly intercept: number
}

/** Bins that represent many, with ln(bin). */
interface Sample {
  readonly bins: Uint32Array
  readonly logBins: Float64Array
}

export class Background {
  readonly #logBin: Float64Array
  /** Filled on demand: logarithms of all 65,537 bins would take longer than their transform. */
  readonly #logPower: Float64Array
  /** The remaining points of a fit, ln(bin) and ln P. */
  readonly #x: Float64Array
  readonly #y: Float64Array
  readonly #isHole: Uint8Array
  /** The bins through which each line goes. */
  readonly #samples: readonly Sample[]
  /** Each bin has 1 + the index of the nearest line, or 0 where bins are tested exactly. */
  readonly #lineNumber: Uint8Array
  readonly #binsPerCycle: number
  #power: Float64Array = new Float64Array(0)
  #floor = 0
  #lines: Line[] = []

  /** Series have `cells` cells, and transforms `size` points. */
  constructor(size: number, cells: number) {
    this.#logBin = new Float64Array(size / 2 + 1)
    for (let k = 1; k < this.#logBin.length; k++) this.#logBin[k] = Math.log(k)
    this.#logPower = new Float64Array(this.#logBin.length)
    this.#x = new Float64Array(this.#logBin.length)
    this.#y = new Float64Array(this.#logBin.length)
    this.#isHole = new Uint8Array(this.#logBin.length)
    this.#binsPerCycle = size / cells
    this.#lineNumber = new Uint8Array(this.#logBin.length)
    const samples: Sample[] = []
    for (let index = 0; this.#lineBin(index) < size / 2; index++) {
      this.#lineNumber.fill(index + 1, this.#endOfLine(index))
      samples.push(this.#sampleAround(this.#lineBin(index)))
    }
    this.#samples = samples
  }

  /** Forgets the series, before the first spectrum of another one. */
  reset(): void {
    this.#floor = 0
    this.#isHole.fill(0)
  }

  /**
   * Takes a spectrum, and the frequencies (cycles a cell) that were subtracted from its series: the holes around these
   * do not belong to the background. The floor of the first spectrum stays, since the later ones show its remainder.
   */
  take({ power, size }: Spectrum, removedFrequencies: readonly number[]): void {
    const reach = leftOutCycles * this.#binsPerCycle
    for (const frequency of removedFrequencies) {
      this.#isHole.fill(1, Math.ceil(Math.max(0, frequency * size - reach)), Math.floor(frequency * size + reach) + 1)
    }
    this.#power = power
    this.#logPower.fill(Number.NaN)
    let largest = 0
    for (let k = 0; k < power.length; k++) if ((power[k] as number) > largest) largest = power[k] as number
    this.#floor = Math.max(this.#floor, floorShare * largest)
    this.#lines = this.#samples.map(sample => this.#lineThrough(sample))
  }

  /** The background at a bin. Costs one pass per round over up to two octaves of bins. */
  at(bin: number): number {
    const leftOut = leftOutCycles * this.#binsPerCycle
    const [from, to] = this.#window(bin)
    let count = 0
    for (let k = from; k <= to; k++) {
      if (Math.abs(k - bin) <= leftOut || this.#isHole[k] === 1) continue
      this.#x[count] = this.#logBin[k] as number
      this.#y[count++] = this.#logOf(k)
    }
    return this.#value(this.#fit(count), bin)
  }

  /** Approximates the background at a bin by a look-up: exact up to 64 cycles in the span, within some 10 % beyond. */
  near(bin: number): number {
    const line = this.#nearLine(bin)
    return line === undefined ? this.at(bin) : this.#value(line, bin)
  }

  /** The local maxima from a bin on, without the last bin, with at least `ratio` times the approximate background. */
  standingOut(from: number, ratio: number): number[] {
    const standing: number[] = []
    for (let start = Math.max(1, from); start < this.#power.length - 1; ) {
      const number = this.#lineNumber[start] as number
      const isLast = number === this.#lines.length
      const end = Math.min(this.#power.length - 1, isLast ? Number.POSITIVE_INFINITY : this.#endOfLine(number))
      this.#standingOutBetween(start, end, ratio, standing)
      start = end
    }
    return standing
  }

  /** Between bins with one line nearly all are below its lower end, which a comparison without an exponential shows. */
  #standingOutBetween(start: number, end: number, ratio: number, standing: number[]): void {
    const power = this.#power
    const line = this.#nearLine(start)
    const least = line === undefined ? 0 : Math.min(this.#value(line, start), this.#value(line, end - 1))
    const powerMin = ratio * Math.max(this.#floor, least)
    for (let bin = start; bin < end; bin++) {
      const value = power[bin] as number
      if (value < powerMin || !isLocalMaximum(power, bin)) continue
      if (value >= ratio * this.near(bin)) standing.push(bin)
    }
  }

  /** The first bin to which another line is nearer. */
  #endOfLine(number: number): number {
    return number === 0 ? this.#lineBin(0) + 1 : Math.ceil(this.#lineBin(number - 0.5))
  }

  #logOf(bin: number): number {
    const known = this.#logPower[bin] as number
    if (!Number.isNaN(known)) return known
    const value = Math.log(Math.max(this.#power[bin] as number, powerMin))
    this.#logPower[bin] = value
    return value
  }

  #nearLine(bin: number): Line | undefined {
    return this.#lines[(this.#lineNumber[bin] as number) - 1]
  }

  #logValue({ slope, intercept }: Line, bin: number): number {
    return intercept + slope * (this.#logBin[bin] as number) + eulerGamma
  }

  #value(line: Line, bin: number): number {
    return Math.max(this.#floor, Math.exp(this.#logValue(line, bin)))
  }

  /** The first and last bin that count, both within the spectrum and above frequency 0. */
  #window(bin: number): [number, number] {
    const reach = reachMinCycles * this.#binsPerCycle
    const from = Math.max(1, Math.ceil(Math.min(bin / 2, bin - reach)))
    return [from, Math.min(this.#logBin.length - 1, Math.floor(Math.max(2 * bin, bin + reach)))]
  }

  #lineBin(index: number): number {
    return Math.round(exactCyclesMax * this.#binsPerCycle * 2 ** (index / linesPerOctave))
  }

  #sampleAround(bin: number): Sample {
    const [from, to] = this.#window(bin)
    const width = to - from + 1
    const count = Math.min(sampleMax, width)
    const bins = Uint32Array.from({ length: count }, (_, i) => {
      return from + (count < width ? Math.floor(((i * goldenFraction) % 1) * width) : i)
    })
    return { bins, logBins: Float64Array.from(bins, sampled => this.#logBin[sampled] as number) }
  }

  #lineThrough({ bins, logBins }: Sample): Line {
    this.#x.set(logBins)
    for (let i = 0; i < bins.length; i++) {
      this.#y[i] = Math.log(Math.max(this.#power[bins[i] as number] as number, powerMin))
    }
    return this.#fit(bins.length)
  }

  /** The line through the first `count` points, dropping those above it three times. */
  #fit(count: number): Line {
    let line = leastSquares(this.#x, this.#y, count)
    let left = count
    for (let round = 0; round < dropRounds; round++) {
      const { slope, intercept } = line
      let kept = 0
      for (let i = 0; i < left; i++) {
        const x = this.#x[i] as number
        const y = this.#y[i] as number
        if (y - intercept - slope * x > dropAbove) continue
        this.#x[kept] = x
        this.#y[kept++] = y
      }
      if (kept === left) break
      left = kept
      line = leastSquares(this.#x, this.#y, left)
    }
    return line
  }
}

function leastSquares(x: Float64Array, y: Float64Array, count: number): Line {
  let xSum = 0
  let ySum = 0
  for (let i = 0; i < count; i++) {
    xSum += x[i] as number
    ySum += y[i] as number
  }
  const xMean = xSum / count
  const yMean = ySum / count
  let xx = 0
  let xy = 0
  for (let i = 0; i < count; i++) {
    const dx = (x[i] as number) - xMean
    xx += dx * dx
    xy += dx * ((y[i] as number) - yMean)
  }
  const slope = xy / xx
  return { slope, intercept: yMean - slope * xMean }
}

const pointsMax = 256
/** Lower power is rounding of a series whose strongest cycle is at 0. */
const decibelMin = -120

/** Longest period first. Decibels are relative to the largest power of the spectrum, and at least −120. */
export interface PeriodogramPicture {
  /** Periods are in cells, from the span of the series down to two. */
  readonly periods: readonly number[]
  readonly powerDecibels: readonly number[]
  readonly backgroundDecibels: readonly number[]
}

/** Returns the bin with the largest power of each stretch of frequencies, with its background. Empty without any power. */
export function periodogramPicture(spectrum: Spectrum, background: Background): PeriodogramPicture {
  const { power, size, cells } = spectrum
  const periods: number[] = []
  const powerDecibels: number[] = []
  const backgroundDecibels: number[] = []
  const first = Math.ceil(size / cells)
  const last = power.length - 1
  const largest = largestOf(power, first, last + 1)
  for (let point = 0, from = first; point < pointsMax && from <= last && largest.power > 0; point++) {
    // At low frequencies a stretch is shorter than a bin: then it is one bin, and there are fewer points.
    const until = Math.max(from + 1, Math.floor(first * ((last + 1) / first) ** ((point + 1) / pointsMax)))
    const { bin, power: value } = largestOf(power, from, until)
    periods.push(size / bin)
    powerDecibels.push(decibels(value, largest.power))
    backgroundDecibels.push(decibels(background.near(bin), largest.power))
    from = until
  }
  return { periods, powerDecibels, backgroundDecibels }
}

function largestOf(power: Float64Array, from: number, until: number): { bin: number; power: number } {
  let bin = from
  for (let k = from + 1; k < until; k++) if ((power[k] as number) > (power[bin] as number)) bin = k
  return { bin, power: power[bin] as number }
}

function decibels(power: number, reference: number): number {
  return Math.max(decibelMin, 10 * Math.log10(power / reference))
}
