/**
 * Messages in a language, as gettext has them: the English text is the key of its translation. The service writes
 * English; a page writes its reader's language.
 */

export type Language = 'en' | 'de'

/** A translation by its English text, or by `context|text`. A plural's key is its singular. */
export type Catalogue = Readonly<Record<string, string | { readonly one: string; readonly other: string }>>

type NamesIn<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never
type ValuesOf<Text extends string, Value> = [NamesIn<Text>] extends [never]
  ? []
  : [values: Readonly<Record<NamesIn<Text>, Value>>]
type PluralValues<One extends string, Other extends string> = [Exclude<NamesIn<One | Other>, 'count'>] extends [never]
  ? [values?: { readonly count?: string }]
  : [values: Readonly<Record<Exclude<NamesIn<One | Other>, 'count'>, string | number> & { count?: string }>]

export interface Words {
  readonly language: Language
  /** `t('{name} is added.', { name })` */
  t<const Text extends string>(text: Text, ...values: ValuesOf<Text, string | number>): string
  /** `tc('alert', 'Open')`: for an English word with several translations. */
  tc<const Text extends string>(context: string, text: Text, ...values: ValuesOf<Text, string | number>): string
  /** `tn(2, '{count} device', '{count} devices')`; `count` among the values replaces the shown number. */
  tn<const One extends string, const Other extends string>(
    count: number,
    one: One,
    other: Other,
    ...values: PluralValues<One, Other>
  ): string
  /** The pieces of a sentence with elements in it: `tp('See {link}.', { link: <a …/> })`. */
  tp<const Text extends string, Values extends Readonly<Record<NamesIn<Text>, unknown>>>(
    text: Text,
    values: Values,
  ): (string | Values[keyof Values])[]
  /** `1,024` */
  countText(count: number): string
  /** The decimal point of `text` becomes the language's. */
  inDecimals(text: string): string
}

const placeholder = /\{(\w+)\}/

export function createWords(language: Language, catalogue: Catalogue = {}): Words {
  // British English has the day before the month, like the pages.
  const locale = language === 'en' ? 'en-GB' : language
  const plurals = new Intl.PluralRules(locale)
  const counts = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 })
  const countText = (count: number) => counts.format(count)
  const isPoint = language === 'en'

  function translated(key: string, text: string): string {
    const found = Object.hasOwn(catalogue, key) ? catalogue[key] : undefined
    return typeof found === 'string' ? found : text
  }
  /** Values stand at odd places. Braces without a value stay. */
  function pieces<Part>(text: string, values: Readonly<Record<string, Part>> = {}): (string | Part)[] {
    return text.split(placeholder).map((piece, at) => {
      if (at % 2 === 0) return piece
      return Object.hasOwn(values, piece) ? (values[piece] as Part) : `{${piece}}`
    })
  }
  return {
    language,
    t: (text, ...[values]) => pieces(translated(text, text), values).join(''),
    tc: (context, text, ...[values]) => pieces(translated(`${context}|${text}`, text), values).join(''),
    tn(count, one, other, ...[values]) {
      const forms = Object.hasOwn(catalogue, one) ? catalogue[one] : undefined
      const { one: single, other: many } = typeof forms === 'object' ? forms : { one, other }
      const text = plurals.select(count) === 'one' ? single : many
      return pieces<string | number>(text, { count: countText(count), ...values }).join('')
    },
    tp: (text, values) => pieces(translated(text, text), values as Readonly<Record<string, never>>),
    countText,
    inDecimals: text => (isPoint ? text : text.replace('.', ',')),
  }
}

export const english = createWords('en')
