/** Deadlines of slots: a binary heap in typed arrays that contains each slot at most once. */

import { bug } from '../../store/limits/bug.ts'

const absent = -1

export class Deadlines {
  #times = new Float64Array(64)
  #slots = new Int32Array(64)
  /** Index of each slot in the heap. */
  #places = new Int32Array(64).fill(absent)
  #count = 0

  /** Infinity when nothing is due. */
  nextMs(): number {
    return this.#count === 0 ? Number.POSITIVE_INFINITY : (this.#times[0] as number)
  }

  /** The slot that is due first. The heap must not be empty. */
  nextSlot(): number {
    if (this.#count === 0) throw bug('no slot is due')
    return this.#slots[0] as number
  }

  /** Replaces the slot's deadline; Infinity removes it. */
  set(slot: number, timeMs: number): void {
    this.#reserve(slot)
    const place = this.#places[slot] as number
    if (timeMs === Number.POSITIVE_INFINITY) {
      if (place !== absent) this.#removeAt(place)
      return
    }
    if (place === absent) {
      this.#put(this.#count, slot, timeMs)
      this.#rise(this.#count++)
    } else {
      this.#times[place] = timeMs
      this.#settle(place)
    }
    this.#assertPlace(slot)
  }

  #assertPlace(slot: number): void {
    const place = this.#places[slot] as number
    if (place >= this.#count || this.#slots[place] !== slot) throw bug(`slot ${slot} is not at heap index ${place}`)
  }

  #removeAt(place: number): void {
    this.#places[this.#slots[place] as number] = absent
    const last = --this.#count
    if (place === last) return
    this.#put(place, this.#slots[last] as number, this.#times[last] as number)
    this.#settle(place)
  }

  #settle(place: number): void {
    if (!this.#rise(place)) this.#sink(place)
  }

  #rise(from: number): boolean {
    let place = from
    while (place > 0) {
      const parent = (place - 1) >> 1
      if ((this.#times[parent] as number) <= (this.#times[place] as number)) break
      this.#swap(place, parent)
      place = parent
    }
    return place !== from
  }

  #sink(from: number): void {
    for (let place = from; ; ) {
      let least = 2 * place + 1
      if (least >= this.#count) return
      if (least + 1 < this.#count && (this.#times[least + 1] as number) < (this.#times[least] as number)) least++
      if ((this.#times[place] as number) <= (this.#times[least] as number)) return
      this.#swap(place, least)
      place = least
    }
  }

  #swap(a: number, b: number): void {
    const [slot, timeMs] = [this.#slots[a] as number, this.#times[a] as number]
    this.#put(a, this.#slots[b] as number, this.#times[b] as number)
    this.#put(b, slot, timeMs)
  }

  #put(place: number, slot: number, timeMs: number): void {
    this.#slots[place] = slot
    this.#times[place] = timeMs
    this.#places[slot] = place
  }

  /** The heap never has more entries than there are slots. */
  #reserve(slot: number): void {
    const length = this.#places.length
    if (slot < length) return
    const grown = Math.max(2 * length, slot + 1)
    const [times, slots, places] = [new Float64Array(grown), new Int32Array(grown), new Int32Array(grown).fill(absent)]
    times.set(this.#times)
    slots.set(this.#slots)
    places.set(this.#places)
    this.#times = times
    this.#slots = slots
    this.#places = places
  }
}
