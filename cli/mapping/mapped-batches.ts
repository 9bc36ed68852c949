/** Cuts readings of a foreign file into batches of NDJSON. */

import type { Chunk } from '../../ingest/formats/lines.ts'
import type { Batch, LineReject } from '../import-batch.ts'
import type { LinesSource } from './mapped-lines.ts'
import { lineOf } from './mapped-reading.ts'
import { type HeldReading, ReadingMerger } from './reading-merger.ts'

interface MappedShape {
  linesMax: number
  chunkBytes: number
}

const tooLate =
  'belongs to a reading that was sent already: its lines are too far apart; sort the file by time, or by device and time'

export async function* mappedBatches(
  chunks: AsyncIterable<Chunk>,
  source: LinesSource,
  bytesRead: () => number,
  shape: MappedShape,
): AsyncGenerator<Batch> {
  const merger = new ReadingMerger()
  let batch = new BatchBuilder()
  let line = 1

  function* cut(isEnd = false): Generator<Batch> {
    if (isEnd ? batch.isEmpty() : !batch.isFull(shape)) return
    yield batch.finish(bytesRead(), source, merger.takeReplaced())
    batch = new BatchBuilder()
  }

  function* add(readings: Iterable<HeldReading>): Generator<Batch> {
    for (const reading of readings) {
      batch.add(reading)
      yield* cut()
    }
  }

  for await (const chunk of chunks) {
    const taken = source.take(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length), line)
    line += taken.lines
    const late = source.isLong() ? taken.readings.filter(reading => !merger.add(reading)) : []
    for (const reject of [...taken.rejects, ...late.map(lateReject)]) batch.rejects.push(reject)
    if (!source.isLong()) yield* add(taken.readings)
    if (merger.isFull()) yield* add(merger.takeHalf())
    yield* cut()
  }
  source.end()
  yield* add(merger.takeAll())
  yield* cut(true)
}

function lateReject({ line }: HeldReading): LineReject {
  return { line, code: 'LINE_MALFORMED', reason: tooLate, text: '' }
}

class BatchBuilder {
  readonly rejects: LineReject[] = []
  readonly #lines: string[] = []
  readonly #sourceLines: number[] = []
  #length = 0

  add(reading: HeldReading): void {
    const text = lineOf(reading)
    this.#lines.push(text)
    this.#sourceLines.push(reading.line)
    this.#length += text.length
  }

  isEmpty(): boolean {
    return this.#lines.length === 0 && this.rejects.length === 0
  }

  isFull({ linesMax, chunkBytes }: MappedShape): boolean {
    return this.#lines.length >= linesMax || this.#length >= chunkBytes || this.rejects.length >= linesMax
  }

  finish(fileBytesRead: number, source: LinesSource, replaced: number): Batch {
    return {
      format: 'ndjson',
      body: Buffer.from(this.#lines.join('')),
      linesAt: 0,
      firstLine: this.#sourceLines[0] ?? 1,
      lineCount: this.#lines.length,
      fileBytesRead,
      mapped: {
        sourceLines: this.#sourceLines,
        rejects: this.rejects,
        ignoredColumns: source.ignoredColumns(),
        unreadColumns: source.unreadColumns(),
        notices: source.notices(),
        replaced,
      },
    }
  }
}
