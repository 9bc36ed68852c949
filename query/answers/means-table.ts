/** Means by device, interval of time and metric, as sums and counts: ten bytes each. */
export class MeansTable {
  readonly #stretches: number
  readonly #metrics: number
  readonly #sums: Float64Array
  readonly #counts: Uint16Array

  constructor(devices: number, stretches: number, metrics: number) {
    this.#stretches = stretches
    this.#metrics = metrics
    this.#sums = new Float64Array(devices * stretches * metrics)
    this.#counts = new Uint16Array(devices * stretches * metrics)
  }

  add(device: number, stretch: number, metric: number, sum: number, count: number): void {
    const at = this.#place(device, stretch, metric)
    this.#sums[at] = (this.#sums[at] as number) + sum
    this.#counts[at] = (this.#counts[at] as number) + count
  }

  /** NaN without a value. */
  mean(device: number, stretch: number, metric: number): number {
    const at = this.#place(device, stretch, metric)
    return (this.#sums[at] as number) / (this.#counts[at] as number)
  }

  #place(device: number, stretch: number, metric: number): number {
    return (device * this.#stretches + stretch) * this.#metrics + metric
  }
}
