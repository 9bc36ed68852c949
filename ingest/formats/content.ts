/** Guesses the format of an invalid bulk body by its first bytes, and names a format that works. */

const signatures: [bytes: readonly number[], sentence: string][] = [
  [[0x1f, 0x8b], 'it is compressed with gzip; send it with Content-Encoding: gzip'],
  [[0x28, 0xb5, 0x2f, 0xfd], 'it is compressed with zstd; send it with Content-Encoding: zstd'],
  [[0x50, 0x4b, 0x03, 0x04], 'it is a ZIP archive, as XLSX and ODS are; save the sheet as CSV'],
  [[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1], 'it is a workbook of Excel (XLS); save the sheet as CSV'],
  [[0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c], 'it is a 7z archive; unpack it'],
  [[0x52, 0x61, 0x72, 0x21, 0x1a, 0x07], 'it is a RAR archive; unpack it'],
  [[0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00], 'it is compressed with xz; unpack it, or use gzip or zstd'],
  [[0x42, 0x5a, 0x68, 0x39, 0x31, 0x41, 0x59], 'it is compressed with bzip2; unpack it, or use gzip or zstd'],
  [[0x25, 0x50, 0x44, 0x46, 0x2d], 'it is a PDF document; send CSV or NDJSON'],
  [[0xff, 0xfe], 'it is UTF-16; save it as UTF-8'],
  [[0xfe, 0xff], 'it is UTF-16; save it as UTF-8'],
]

const byteOrderMark = [0xef, 0xbb, 0xbf]
const opening = { array: 0x5b, object: 0x7b, element: 0x3c }

/** Some spreadsheets put three bytes before the first line. */
export function withoutByteOrderMark<Bytes extends Uint8Array>(bytes: Bytes): Bytes {
  return (startsWith(bytes, byteOrderMark) ? bytes.subarray(byteOrderMark.length) : bytes) as Bytes
}

/** Returns a sentence for a body that is neither CSV nor NDJSON. Undefined where it may be one of them. */
export function foreignContent(start: Uint8Array): string | undefined {
  const known = signatures.find(([bytes]) => startsWith(start, bytes))
  if (known !== undefined) return known[1]
  if (firstLine(start).includes('\0'))
    return 'it is UTF-16 or binary: its first line has bytes of zero; save it as CSV in UTF-8'
  switch (firstMark(start)) {
    case undefined:
      return 'it is empty'
    case opening.array:
      return "it is a JSON array; send one object a line (NDJSON), for instance by jq -c '.[]'"
    case opening.element:
      return 'it is XML or HTML; send CSV or NDJSON'
    default:
      return looksLikeLineProtocol(start) ? 'it is line protocol; send CSV or NDJSON' : undefined
  }
}

/** Checks the first line, or the heading written by `influx_inspect export`. */
export function looksLikeLineProtocol(start: Uint8Array): boolean {
  const line = firstLine(start)
  return line.startsWith(exportHeading) || isLineProtocol(line)
}

export function looksLikeNdjson(start: Uint8Array): boolean {
  return firstMark(start) === opening.object
}

/** The first byte other than white space. */
function firstMark(start: Uint8Array): number | undefined {
  return start.find(byte => byte > 0x20)
}

const lineBytesMax = 4096

function firstLine(start: Uint8Array): string {
  const end = start.indexOf(0x0a)
  return Buffer.from(start.subarray(0, Math.min(end === -1 ? start.length : end, lineBytesMax)))
    .toString()
    .trim()
}

const exportHeading = '# INFLUXDB EXPORT'

/** `weather,room=k temperature=21.5 1700000000000000000`: a name with tags, fields, and optionally a time. */
function isLineProtocol(line: string): boolean {
  // A quoted text may contain anything, so the check ends at the first quote.
  const quote = line.indexOf('"')
  const start = (quote === -1 ? line : line.slice(0, quote + 1)).replaceAll('\\ ', '_')
  const [head = '', fields = '', time, ...rest] = start.split(' ')
  const isTime = time === undefined || Number.isSafeInteger(Number(time.slice(0, 15)))
  const [name = '', ...tags] = head.split(',')
  return rest.length === 0 && isTime && name !== '' && !name.includes('=') && [...tags, fields].every(isAssignment)
}

function isAssignment(text: string): boolean {
  const at = text.indexOf('=')
  return at > 0 && at < text.length - 1
}

function startsWith(bytes: Uint8Array, start: readonly number[]): boolean {
  return start.every((byte, at) => bytes[at] === byte)
}
