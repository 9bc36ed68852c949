/** The published contract as a page that a person can read, without script. */

import { createHash } from 'node:crypto'
import { type Html, html } from '../http/html.ts'
import type { Content, OpenApiDocument, Parameter, PublishedOperation } from './contract.ts'

const style = `
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 1rem; overflow-wrap: anywhere; }
h2 { border-top: 1px solid; margin-top: 2rem; padding-top: 1rem; font-size: 1.1rem; }
code, pre { font: 14px/1.4 ui-monospace, monospace; }
pre { overflow-x: auto; border: 1px solid; padding: .5rem; }
dt { font-weight: 600; }
`
export const docsPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
].join('; ')

export function renderDocs(document: OpenApiDocument): string {
  const sections = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => section(path, method, operation)),
  )
  const schemas = Object.entries(document.components.schemas).map(
    ([name, schema]) => html`<h2 id="${name}">${name}</h2><pre tabindex="0">${JSON.stringify(schema, null, 2)}</pre>\n`,
  )
  return html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${document.info.title}: operations</title>${{ markup: `<style>${style}</style>` }}</head>
<body><main>
<h1>${document.info.title}: operations</h1>
<p>The same as a document for programs: <a href="/openapi.json">/openapi.json</a></p>
${sections}
<h1>Schemas</h1>
${schemas}</main></body>
</html>
`.markup
}

function section(path: string, method: string, operation: PublishedOperation): Html {
  const { summary, description, operationId, requestBody, parameters = [], security = [], responses } = operation
  const answers = Object.entries(responses).map(
    ([status, { description, content = {} }]) =>
      html`<dt>${status}</dt><dd>${description}${linksIn(content).map(link => html`: ${link}`)}</dd>`,
  )
  return html`<h2 id="${operationId}"><code>${method.toUpperCase()} ${path}</code></h2>
<p>${summary}</p>
${description === undefined ? html`` : html`<p>${description}</p>`}
${security.length === 0 ? html`` : html`<p>Credentials: ${security.flatMap(Object.keys).join(', ')}</p>`}
${parameters.map(parameterLine)}
${linksIn(requestBody?.content ?? {}).map(link => html`<p>Body: ${link}</p>`)}
<dl>${answers}</dl>
`
}

function parameterLine({ name, in: place, schema, description }: Parameter): Html {
  const more = description === undefined ? html`` : html`: ${description}`
  return html`<p>${place}: <code>${name}</code> (${String(schema['type'] ?? 'text')})${more}</p>`
}

/** To the schemas that are shown below. */
function linksIn(content: Content): Html[] {
  return Object.values(content).flatMap(({ schema }) => {
    const name = typeof schema['$ref'] === 'string' ? schema['$ref'].split('/').at(-1) : undefined
    return name === undefined ? [] : [html`<a href="#${name}">${name}</a>`]
  })
}
