/**
 * Declares the model of the browsable page. html/ turns it into text and decides nothing. Texts are raw and have to be
 * escaped; addresses are relative to the page and encoded.
 */

export interface BrowsablePage {
  /** `Content File List`, `Content File Instance`. */
  title: string
  description: string
  /** The trail leads from the list to this page, which has no address. */
  breadcrumb: readonly { name: string; href: string | undefined }[]
  /** Requested method: `GET`, `OPTIONS`, or one that is not allowed. */
  method: string
  /** Path with the query string, as it was sent. */
  path: string
  /** `HTTP 200 OK` */
  statusLine: string
  /** Headers of the JSON answer, in the order in which they are shown. */
  headers: readonly (readonly [name: string, value: string])[]
  /** Indented by 4; empty without a body. */
  json: string
  /** GET button with its menu, whose links keep the query. */
  get: { href: string; formats: readonly { name: 'json' | 'api'; href: string }[] }
  /** Answer of OPTIONS: a page without a script cannot send it, so the page shows it. */
  options: { requestLine: string; statusLine: string; headers: BrowsablePage['headers']; json: string }
  /** Present on the list, also with errors. */
  filters: FilterForm | undefined
  /** Present on a list of several pages. */
  pager: Pager | undefined
}

/** A form with method GET. The order of its fields is shown. */
export interface FilterForm {
  action: string
  /** Arguments that the form keeps: all except filters and `offset`. */
  hidden: readonly { name: string; value: string }[]
  fields: readonly FilterField[]
}

interface Field {
  name: string
  label: string
  /** Error of its values, as in the JSON. With an error, the form is open in the page. */
  error?: string | undefined
}

export type FilterField = Field &
  (
    | { kind: 'choices'; choices: readonly Choice[] }
    /** Any number of values under the same name, with room for one more. */
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
