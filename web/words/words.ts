/** The words of the page. Its language is chosen when the document loads, so that constants of modules may have words. */

import { createWords, type Language } from '../../analytics/findings/words.ts'
import { browserStorage, readStored } from '../client/browser-storage.ts'

/** Undefined in tests without a browser. */
const page = (globalThis as { document?: { documentElement: { lang: string } } }).document

/** A person's choice, else the first language of the browser that has a catalogue. */
export function languageFor(chosen: Language | null): Language {
  if (page === undefined) return 'en'
  const wanted = chosen === null ? navigator.languages.map(tag => tag.split('-', 1)[0]) : [chosen]
  return wanted.find(language => language === 'de' || language === 'en') ?? 'en'
}

const language = languageFor(readStored(browserStorage).preferences.language)

/** The page is in English if the file cannot be loaded. */
const catalogue =
  language === 'de'
    ? await import('./german.ts').then(
        ({ german }) => german,
        () => ({}),
      )
    : {}

if (page !== undefined) page.documentElement.lang = language

export const words = createWords(language, catalogue)
export const { t, tc, tn, tp, countText } = words
