/** The index of each device in the columns of the fleet: a small number, which is reused after a removal. */

import { bug } from '../../store/limits/bug.ts'

/** Numbers of a registry are close together, so they are looked up by pages. */
const pageBits = 12
const pageMask = (1 << pageBits) - 1

export class Slots {
  readonly #pages = new Map<number, Int32Array>()
  readonly #free: number[] = []
  #lastPage: Int32Array | undefined
  #lastPageIndex = -1
  /** Slots below this have been assigned. */
  #end = 0

  /** -1 when the device has none. */
  of(number: number): number {
    const page = this.#page(Math.floor(number / (pageMask + 1)))
    return page === undefined ? -1 : (page[number & pageMask] as number)
  }

  /** The device must not have a slot yet. */
  add(number: number): number {
    const index = Math.floor(number / (pageMask + 1))
    let page = this.#page(index)
    if (page === undefined) {
      if (this.#pages.has(index)) throw bug(`second page for the devices from ${index << pageBits} on`)
      page = new Int32Array(pageMask + 1).fill(-1)
      this.#pages.set(index, page)
      this.#lastPageIndex = -1
    }
    const before = page[number & pageMask] as number
    if (before !== -1) throw bug(`device ${number} has slot ${before} already`)
    const slot = this.#free.pop() ?? this.#end++
    page[number & pageMask] = slot
    return slot
  }

  remove(number: number): void {
    const page = this.#page(Math.floor(number / (pageMask + 1)))
    const slot = page?.[number & pageMask] ?? -1
    if (page === undefined || slot === -1) throw bug(`device ${number} has no slot`)
    this.#free.push(slot)
    page[number & pageMask] = -1
  }

  /** Slots are below this. */
  end(): number {
    return this.#end
  }

  #page(index: number): Int32Array | undefined {
    if (index !== this.#lastPageIndex) {
      this.#lastPage = this.#pages.get(index)
      this.#lastPageIndex = index
    }
    return this.#lastPage
  }
}
