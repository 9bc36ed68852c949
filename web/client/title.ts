/** The tab's title: the page's name, preceded by notices for readers of another tab. */

import { effect, signal } from '@preact/signals'

const page = signal('')
const notice = signal('')
/** The notice of firing alerts. */
const firing = signal('')

effect(() => {
  const name = page.value === '' ? 'Barograph' : `${page.value} – Barograph`
  const notices = [firing.value, notice.value].filter(text => text !== '')
  document.title = notices.length === 0 ? name : `${notices.join(', ')} – ${name}`
})

/** A page says it when it is shown, and leaves the title to the next one. */
export function setTitle(name: string): void {
  page.value = name
}

/** Name of the page that is shown. */
export function shownTitle(): string {
  return page.peek()
}

/** `3 silent`, or `No connection`. An empty text ends it. */
export function setTitleNotice(text: string): void {
  notice.value = text
}

/** `2 firing`, before the notice of the page; an empty text for none. */
export function setTitleOfFiring(text: string): void {
  firing.value = text
}
