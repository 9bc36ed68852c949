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

/** British English has the day before the month and 24 hours. */
export const locales = { en: 'en-GB', de: 'de' } as const
const clock = { hour: '2-digit', minute: '2-digit' } as const
const day = { day: 'numeric', month: 'short', year: 'numeric' } as const

/** A zone keeps its object: charts are drawn again for another one. */
const made = new Map<string, Times>()
const madeMax = 50

/** `zone`: an IANA name, as `time_zone` of an answer; one that the browser does not know is shown as UTC. */
export function createTimes(zone: string, language: keyof typeof locales = 'en'): Times {
  const key = `${language} ${zone}`
  const times = made.get(key) ?? timesOf(isZone(zone) ? zone : 'UTC', locales[language])
  if (made.size >= madeMax) made.clear()
  made.set(key, times)
  return times
}

function timesOf(zone: string, locale: string): Times {
  const format = (options: Intl.DateTimeFormatOptions) => {
    const formatter = new Intl.DateTimeFormat(locale, { ...options, timeZone: zone })
    return (ms: number) => formatter.format(ms)
  }
  return {
    zone,
    time: format(clock),
    dateTime: format({ ...day, ...clock }),
    exact: format({ ...day, ...clock, second: '2-digit', timeZoneName: 'short' }),
    date: format(day),
  }
}

/** True if the browser knows the zone. */
export function isZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en-GB', { timeZone: zone })
    return true
  } catch {
    return false
  }
}
