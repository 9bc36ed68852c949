/** Chooses the language of a page that the service renders. */

import type { IncomingMessage } from 'node:http'
import Negotiator from 'negotiator'
import { createWords, english, type Language, type Words } from '../../analytics/findings/words.ts'
import { service } from '../../web/words/german/service.ts'
import { german as pages } from '../../web/words/german.ts'

/** A header of 16 KB would take milliseconds. Browsers send fewer than ten languages. */
const headerLengthMax = 300

const german = createWords('de', { ...pages, ...service })

/** The account's choice, else the browser's first language that has a catalogue. */
export function wordsFor({ headers }: Pick<IncomingMessage, 'headers'>, chosen: Language | null = null): Words {
  const header = headers['accept-language']?.slice(0, headerLengthMax)
  const language = chosen ?? new Negotiator({ headers: { 'accept-language': header } }).languages(['en', 'de'])[0]
  return language === 'de' ? german : english
}
