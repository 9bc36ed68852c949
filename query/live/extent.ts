/** The smallest box of degrees that has all of some places. */

import type { MapBox } from './fleet-shape.ts'

export interface Place {
  readonly latitude: number
  readonly longitude: number
}

export class Extent {
  #west = Number.POSITIVE_INFINITY
  #south = Number.POSITIVE_INFINITY
  #east = Number.NEGATIVE_INFINITY
  #north = Number.NEGATIVE_INFINITY

  add(latitude: number, longitude: number): void {
    if (longitude < this.#west) this.#west = longitude
    if (longitude > this.#east) this.#east = longitude
    if (latitude < this.#south) this.#south = latitude
    if (latitude > this.#north) this.#north = latitude
  }

  /** Null without any place. */
  box(): MapBox | null {
    const box = { west: this.#west, south: this.#south, east: this.#east, north: this.#north }
    return box.west > box.east ? null : box
  }
}
