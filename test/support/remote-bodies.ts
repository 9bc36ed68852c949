/** Bodies as Prometheus and OpenTelemetry send them. */

/** A sample is `[value, milliseconds]`. */
export interface SentSeries {
  labels: Record<string, string>
  samples: readonly (readonly [value: number, timeMs: number])[]
}

export function remoteWrite(...series: readonly SentSeries[]): Buffer<ArrayBuffer> {
  return snappy(writeRequest(series))
}

export function writeRequest(series: readonly SentSeries[]): Buffer {
  return Buffer.concat(
    series.map(({ labels, samples }) =>
      message(
        1,
        ...Object.entries(labels).map(([name, value]) => message(1, text(1, name), text(2, value))),
        ...samples.map(([value, timeMs]) => message(2, double(1, value), integer(2, timeMs))),
      ),
    ),
  )
}

export function message(field: number, ...parts: readonly Buffer[]): Buffer {
  const bytes = Buffer.concat(parts)
  return Buffer.concat([varint(field * 8 + 2), varint(bytes.length), bytes])
}

export function text(field: number, value: string): Buffer {
  return message(field, Buffer.from(value))
}

export function double(field: number, value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleLE(value)
  return Buffer.concat([varint(field * 8 + 1), bytes])
}

export function fixed(field: number, value: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64LE(value)
  return Buffer.concat([varint(field * 8 + 1), bytes])
}

function integer(field: number, value: number): Buffer {
  return Buffer.concat([varint(field * 8), varint(value)])
}

export function varint(value: number): Buffer {
  const bytes: number[] = []
  let left = BigInt.asUintN(64, BigInt(value))
  for (; left >= 0x80n; left >>= 7n) bytes.push(Number(left & 0x7fn) | 0x80)
  return Buffer.from([...bytes, Number(left)])
}

const pieceMax = 2 ** 16

/** Literals, and copies of text that repeats within 2 KiB, which have offsets of 11 or 16 bits. */
export function snappy(plain: Buffer): Buffer<ArrayBuffer> {
  const parts = [varint(plain.length)]
  let literalAt = 0
  const literal = (end: number) => {
    for (let at = literalAt; at < end; at += pieceMax) {
      const piece = plain.subarray(at, Math.min(end, at + pieceMax))
      const length = piece.length - 1
      if (length < 60) parts.push(Buffer.of(length << 2), piece)
      else parts.push(Buffer.of(61 << 2, length & 0xff, length >> 8), piece)
    }
  }
  for (let at = 4; at + 8 <= plain.length; ) {
    const found = plain.subarray(Math.max(0, at - 2048), at + 7).lastIndexOf(plain.subarray(at, at + 8))
    const offset = found === -1 ? 0 : at - Math.max(0, at - 2048) - found
    if (offset === 0) at++
    else {
      literal(at)
      const isNear = offset < 2048 && at % 2 === 0
      parts.push(
        isNear ? Buffer.of(1 | (4 << 2) | ((offset >> 8) << 5), offset) : Buffer.of(2 | (7 << 2), offset, offset >> 8),
      )
      at += 8
      literalAt = at
    }
  }
  literal(plain.length)
  return Buffer.concat(parts)
}
