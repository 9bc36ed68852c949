/** Which alerts a notification names, and how many there are in all. */

import type { Message } from '../core/message.ts'
import { stateOf } from './compose.ts'
import type { Member } from './member-rows.ts'

/** The list names this many alerts, the latest ones. */
class Latest {
  readonly #max: number
  #members: Member[] = []

  constructor(max: number) {
    this.#max = max
  }

  add(member: Member): void {
    this.#members.push(member)
    if (this.#members.length >= 2 * this.#max) this.#members = this.#members.slice(-this.#max)
  }

  newestFirst(): Member[] {
    return this.#members.slice(-this.#max).reverse()
  }
}

export class NotifiedList {
  readonly #max: number
  readonly #news: Latest
  readonly #ended: Latest
  readonly #others: Latest
  readonly counts: Message['counts'] = { firing: 0, resolved: 0, flapping: 0, silenced: 0 }

  constructor(max: number) {
    this.#max = max
    this.#news = new Latest(max)
    this.#ended = new Latest(max)
    this.#others = new Latest(max)
  }

  /** Oldest first. */
  add(member: Member): void {
    const state = stateOf(member)
    this.counts[state]++
    if (state === 'resolved') this.#ended.add(member)
    else if (member.owes === null) this.#others.add(member)
    else this.#news.add(member)
  }

  /** The number of all notified alerts. */
  size(): number {
    return this.counts.firing + this.counts.flapping + this.counts.resolved
  }

  /** News first, then by time, latest first. */
  named(): Member[] {
    return [this.#news, this.#ended, this.#others].flatMap(list => list.newestFirst()).slice(0, this.#max)
  }
}
