/** The title of the tab: what is shown, and before it what somebody in another tab should know. */

import { effect, signal } from '@preact/signals'

const page = signal('')
const notice = signal('')

effect(() => {
  const name = page.value === '' ? 'Barograph' : `${page.value} – Barograph`
  document.title = notice.value === '' ? name : `${notice.value} – ${name}`
})

/** A page says it when it is shown, and leaves the title to the next one. */
export function setTitle(name: string): void {
  page.value = name
}

/** `3 silent`, or `No connection`; an empty text ends it. */
export function setTitleNotice(text: string): void {
  notice.value = text
}
