/** How many rows of a topic were read, and how many of them QuestDB shows. */

interface Mark {
  /** Of the next group. */
  offset: number
  /** Rows before it. */
  rows: number
}

/** Beyond, each second one is left out: a count of what is shown is then that of a few groups before. */
const marksMax = 1024

export class RowCounts {
  #read = 0
  #applied = 0
  #marks: Mark[] = []

  /** Since the feed began to read. */
  get read(): number {
    return this.#read
  }

  /** Of these, at least so many show. */
  get applied(): number {
    return this.#applied
  }

  /** The group at this offset has so many rows. */
  add(offset: number, rows: number): void {
    this.#read += rows
    this.#marks.push({ offset: offset + 1, rows: this.#read })
    if (this.#marks.length > marksMax) this.#marks = this.#marks.filter((_, index) => index % 2 === 1)
  }

  /** QuestDB shows all rows before this offset. */
  show(offset: number): void {
    const place = this.#marks.findLastIndex(mark => mark.offset <= offset)
    const mark = this.#marks[place]
    if (mark === undefined) return
    this.#applied = mark.rows
    this.#marks.splice(0, place + 1)
  }
}
