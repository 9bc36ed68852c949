/** Declares forms of times for the contract. ingest/formats/time-text.ts parses them. */

import { z } from 'zod'

const date = z.regexes.date.source.slice(1, -1).replaceAll('\\d', '[0-9]')
const clock = '(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\\.[0-9]{1,9})?)?'
const zone = '(?:[Zz]|[+-](?:[01][0-9]|2[0-3])(?::?[0-5][0-9])?)'

/** A date alone, or a time with or without a zone. */
export const timeTextForm = `^${date}(?:[Tt ]${clock}${zone}?)?$`

/** A time with a zone, or milliseconds. */
export const momentForm = `^(?:[0-9]{1,13}|${date}[Tt ]${clock}${zone})$`
