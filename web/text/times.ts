/** Times as people read them: in the zone of the page, or in one that they have chosen; every text names it, or the page says it once. */

export interface Times {
  zone: string
  /** `12:04` */
  time(ms: number): string
  /** `23 Nov 2026, 12:04` */
  dateTime(ms: number): string
  /** `23 Nov 2026, 12:04:31 CET`, for a tooltip or a table of values. */
  exact(ms: number): string
  /** `23 Nov 2026` */
  date(ms: number): string
}

/** British English has the day before the month and 24 hours; the words of the pages are English too. */
const locale = 'en-GB'
const clock = { hour: '2-digit', minute: '2-digit' } as const
const day = { day: 'numeric', month: 'short', year: 'numeric' } as const

/** `zone`: an IANA name, as `time_zone` of an answer; one that the browser does not know is shown as UTC. */
export function createTimes(zone: string): Times {
  const known = isZone(zone) ? zone : 'UTC'
  const format = (options: Intl.DateTimeFormatOptions) => {
    const formatter = new Intl.DateTimeFormat(locale, { ...options, timeZone: known })
    return (ms: number) => formatter.format(ms)
  }
  return {
    zone: known,
    time: format(clock),
    dateTime: format({ ...day, ...clock }),
    exact: format({ ...day, ...clock, second: '2-digit', timeZoneName: 'short' }),
    date: format(day),
  }
}

/** Whether the browser knows it. */
export function isZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat(locale, { timeZone: zone })
    return true
  } catch {
    return false
  }
}

const local = createTimes('UTC')

/** `23 Nov 2026, 12:04`, of a `YYYY-MM-DD HH:mm` as answers have it, whatever its zone is. */
export function localMinuteText(text: string): string {
  return local.dateTime(Date.parse(`${text.replace(' ', 'T')}Z`))
}

/** `07:00`, `14:30`, of hours since midnight with their fraction; 24 is `24:00`, the end of a day. */
export function hourText(hour: number): string {
  const minutes = Math.round(hour * 60)
  const shown = hour < 24 ? minutes % 1440 : minutes
  return `${String(Math.floor(shown / 60)).padStart(2, '0')}:${String(shown % 60).padStart(2, '0')}`
}

const units = [
  { name: 'd', seconds: 86_400 },
  { name: 'h', seconds: 3_600 },
  { name: 'min', seconds: 60 },
  { name: 's', seconds: 1 },
]

/** A span in its largest two units where that says more: `12 s`, `3 min`, `1 h 20 min`, `2 d 4 h`, `41 d`. */
export function spanText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  const at = units.findIndex(unit => seconds >= unit.seconds)
  const unit = units[at]
  if (unit === undefined) return '0 s'
  const count = Math.floor(seconds / unit.seconds)
  const smaller = units[at + 1]
  const rest = smaller === undefined ? 0 : Math.floor((seconds % unit.seconds) / smaller.seconds)
  // Seconds beside minutes would only flicker, and hours beside many days say nothing.
  const isTold = smaller !== undefined && rest > 0 && unit.name !== 'min' && count < 10
  return isTold ? `${count} ${unit.name} ${rest} ${smaller.name}` : `${count} ${unit.name}`
}

/** `3 min ago`; a time ahead of the clock, as of a device whose clock is wrong, is `in 3 min`. */
export function ageText(ms: number): string {
  if (ms <= -1000) return `in ${spanText(-ms)}`
  return ms < 1000 ? 'now' : `${spanText(ms)} ago`
}
