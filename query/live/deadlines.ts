/** Items in the order of their deadlines: a binary heap that contains each item at most once. */

export interface Timed {
  /** Infinity without a deadline. Set by the heap only, as is the place. */
  dueMs: number
  /** Index in the heap; -1 without a deadline. */
  heapPlace: number
}

/** The fields of a new item. */
export const noDeadline: Timed = { dueMs: Number.POSITIVE_INFINITY, heapPlace: -1 }

export class Deadlines<Item extends Timed> {
  readonly #heap: Item[] = []

  /** Infinity when nothing is due. */
  nextMs(): number {
    return this.#heap[0]?.dueMs ?? Number.POSITIVE_INFINITY
  }

  /** The item that is due first. */
  next(): Item | undefined {
    return this.#heap[0]
  }

  /** Replaces the item's deadline; Infinity removes it. */
  set(item: Item, dueMs: number): void {
    item.dueMs = dueMs
    if (dueMs === Number.POSITIVE_INFINITY) {
      this.#remove(item)
      return
    }
    if (item.heapPlace === -1) item.heapPlace = this.#heap.push(item) - 1
    this.#settle(item)
  }

  #remove(item: Item): void {
    if (item.heapPlace === -1) return
    const last = this.#heap.pop() as Item
    if (last !== item) {
      this.#put(last, item.heapPlace)
      this.#settle(last)
    }
    item.heapPlace = -1
  }

  /** Moves the item up or down until its parent is due before it and its children are not. */
  #settle(item: Item): void {
    for (;;) {
      const parent = this.#heap[(item.heapPlace - 1) >> 1]
      if (parent === undefined || parent.dueMs <= item.dueMs) break
      this.#swap(item, parent)
    }
    for (;;) {
      const [left, right] = [this.#heap[2 * item.heapPlace + 1], this.#heap[2 * item.heapPlace + 2]]
      const least = right !== undefined && left !== undefined && right.dueMs < left.dueMs ? right : left
      if (least === undefined || item.dueMs <= least.dueMs) return
      this.#swap(item, least)
    }
  }

  #swap(a: Item, b: Item): void {
    const place = a.heapPlace
    this.#put(a, b.heapPlace)
    this.#put(b, place)
  }

  #put(item: Item, place: number): void {
    this.#heap[place] = item
    item.heapPlace = place
  }
}
