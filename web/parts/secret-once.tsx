/** A secret that is shown once, with programs that contain it. */

import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { t } from '../words/words.ts'

export interface SecretOnceProps {
  title: string
  text: string
  parts: readonly { name: string; text: string }[]
  onDone: () => void
  children?: ComponentChildren
}

export function SecretOnce({ title, text, parts, onDone, children }: SecretOnceProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  return (
    <section class="card" aria-label={title}>
      <h2 ref={heading} tabIndex={-1}>
        {title}
      </h2>
      <p>{text}</p>
      {parts.map(part => (
        <CopiedText key={part.name} {...part} />
      ))}
      {children}
      <button type="button" class="button done" onClick={onDone}>
        {t('I have it')}
      </button>
    </section>
  )
}

function CopiedText({ name, text }: { name: string; text: string }) {
  const [label, setLabel] = useState(t('Copy'))
  const place = useRef<HTMLPreElement>(null)
  // Browsers give the clipboard to pages over HTTPS and on the machine itself alone. Elsewhere the text is selected.
  const copy = async () => {
    if (place.current !== null) getSelection()?.selectAllChildren(place.current)
    try {
      await navigator.clipboard.writeText(text)
      setLabel(t('Copied'))
    } catch {
      setLabel(t('Selected: press Ctrl+C'))
    }
  }
  return (
    <>
      <h3>{name}</h3>
      <pre data-name={name} ref={place}>
        {text}
      </pre>
      <button type="button" class="button" onClick={() => void copy()}>
        {label}
        <span class="unseen"> {name}</span>
      </button>
    </>
  )
}
