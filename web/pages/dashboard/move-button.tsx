/** Moves a panel by a drag, or by the arrow keys. */

import { useEffect, useRef } from 'preact/hooks'
import { t } from '../../words/words.ts'

export interface MoveButtonProps {
  readonly name: string
  readonly place: number
  readonly onMove: (to: number) => void
}

export function MoveButton({ name, place, onMove }: MoveButtonProps) {
  const button = useRef<HTMLButtonElement>(null)
  const isMoving = useRef(false)
  // An element that is put elsewhere loses the focus.
  useEffect(() => {
    if (isMoving.current) button.current?.focus()
    isMoving.current = false
  }, [place])
  function move(to: number): void {
    isMoving.current = true
    onMove(to)
  }
  const latest = useRef(move)
  latest.current = move
  function drag(event: PointerEvent): void {
    if (event.button !== 0) return
    // Panels differ in size: one that was passed counts again only after the pointer has left it.
    let over = button.current?.closest('[data-place]')
    const follow = ({ clientX, clientY }: PointerEvent) => {
      const found = document.elementFromPoint(clientX, clientY)?.closest<HTMLElement>('[data-place]')
      if (!found || found === over) return
      over = found
      if (!found.contains(button.current)) latest.current(Number(found.dataset['place']))
    }
    const end = new AbortController()
    addEventListener('pointermove', follow, { signal: end.signal })
    for (const name of ['pointerup', 'pointercancel']) addEventListener(name, () => end.abort(), { signal: end.signal })
  }
  return (
    <button
      ref={button}
      type="button"
      class="button small dash-move"
      aria-label={t('Move {name}', { name })}
      aria-description={t('The arrow keys move the panel.')}
      onPointerDown={drag}
      onKeyDown={event => {
        const step = steps[event.key]
        if (step === undefined) return
        event.preventDefault()
        move(place + step)
      }}
    >
      <span aria-hidden="true">⠿</span>
    </button>
  )
}

const steps: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }

export function moved<Item>(items: readonly Item[], from: number, to: number): Item[] {
  const rest = items.toSpliced(from, 1)
  return rest.toSpliced(to, 0, items[from] as Item)
}
