/** Names the file in which a browser saves the readings of a range: `porch_2026-05-01_2026-05-08T0630Z.csv`. */

interface NamedRange {
  /** A device, a station, or a name for several. */
  readonly subject: string
  readonly fromUs: number
  /** Exclusive. */
  readonly toUs: number
  readonly extension: string
}

const subjectCharactersMax = 64

/** The value of `content-disposition`. All characters are safe in a header and on any disk. */
export function attachmentOf({ subject, fromUs, toUs, extension }: NamedRange): string {
  const safe = subject.slice(0, subjectCharactersMax).replace(/[^A-Za-z0-9.-]/g, '-')
  // Files that begin with a dot are hidden.
  const name = safe.startsWith('.') ? `-${safe.slice(1)}` : safe
  return `attachment; filename="${name}_${momentText(fromUs)}_${momentText(toUs)}.${extension}"`
}

/** Writes UTC. Midnight is the day alone. */
function momentText(timeUs: number): string {
  const text = new Date(Math.floor(timeUs / 1000)).toISOString()
  return text.endsWith('T00:00:00.000Z') ? text.slice(0, 10) : `${text.slice(0, 16).replace(':', '')}Z`
}
