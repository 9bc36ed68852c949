/**
 * All that the browsable page shows, ready to be written: html/ turns it into text and decides nothing. Texts are raw,
 * so every one of them has to be escaped; addresses are relative to the page and encoded already.
 */

export interface BrowsablePage {
  /** `Content File List`, `Content File Instance`. */
  title: string
  description: string
  /** From the list down to this page, which has no address. */
  breadcrumb: readonly { name: string; href: string | undefined }[]
  /** As asked: `GET`, `OPTIONS`, or one that is not allowed. */
  method: string
  /** The path with the query string, as it was sent. */
  path: string
  /** `HTTP 200 OK` */
  statusLine: string
  /** Those that the JSON answer would have, in the order in which they are shown. */
  headers: readonly (readonly [name: string, value: string])[]
  /** Indented by 4; empty for an answer that has no body. */
  json: string
  /** The GET button, and the menu beside it, whose links keep the query. */
  get: { href: string; formats: readonly { name: 'json' | 'api'; href: string }[] }
  /** What OPTIONS answers here; a page without script cannot send it, so it shows it. */
  options: { requestLine: string; statusLine: string; headers: BrowsablePage['headers']; json: string }
  /** On the list, errors included. */
  filters: FilterForm | undefined
  /** On the list, where there is more than one page. */
  pager: Pager | undefined
}

/** A form with method GET; its fields stand in this order. */
export interface FilterForm {
  action: string
  /** Arguments that the form keeps: all that are no filters, without `offset`. */
  hidden: readonly { name: string; value: string }[]
  fields: readonly FilterField[]
}

interface Field {
  name: string
  label: string
  /** What was wrong with its values, as the JSON says; with one, the form stands open in the page. */
  error?: string | undefined
}

export type FilterField = Field &
  (
    | { kind: 'choices'; choices: readonly Choice[] }
    /** Any number of values, each sent under the same name; there is room for one more. */
    | { kind: 'numbers' | 'texts'; values: readonly string[] }
  )

export interface Choice {
  value: string
  name: string
  isChosen: boolean
}

/** `«`, numbers with gaps between them, `»`. */
export interface Pager {
  previous: string | undefined
  next: string | undefined
  pages: readonly ({ number: number; href: string; isCurrent: boolean } | 'gap')[]
}
