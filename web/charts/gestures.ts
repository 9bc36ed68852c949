/** Zoom and pan by touch and wheel: two fingers or the wheel with Ctrl zoom, one finger or a sideways wheel moves. */

export interface GestureActions {
  /** `factor` below 1 shows less, around a place on the screen. */
  zoom(factor: number, clientX: number): void
  /** `share` of the width; positive moves to later times. */
  pan(share: number): void
}

/** A finger moves the chart only after this distance, so that a tap selects a value. */
const slackPx = 8

/** Listens on the element until the function that is returned is called. */
export function listenToGestures(element: HTMLElement, { zoom, pan }: GestureActions): () => void {
  const touches = new Map<number, number>()
  let moved = 0
  const spread = () => {
    const [one = 0, other = 0] = touches.values()
    return Math.max(20, Math.abs(one - other))
  }

  function onDown({ pointerType, pointerId, clientX }: PointerEvent): void {
    if (pointerType !== 'touch') return
    touches.set(pointerId, clientX)
    moved = 0
  }

  function onMove({ pointerId, clientX }: PointerEvent): void {
    const before = touches.get(pointerId)
    if (before === undefined) return
    const spreadBefore = spread()
    if (touches.size === 1) {
      moved += Math.abs(clientX - before)
      if (moved > slackPx) pan((before - clientX) / element.clientWidth)
    }
    touches.set(pointerId, clientX)
    if (touches.size !== 2) return
    const [one = 0, other = 0] = touches.values()
    zoom(spreadBefore / spread(), (one + other) / 2)
  }

  const onUp = ({ pointerId }: PointerEvent) => touches.delete(pointerId)

  function onWheel(event: WheelEvent): void {
    if (event.ctrlKey) {
      event.preventDefault()
      zoom(Math.exp(event.deltaY / 300), event.clientX)
    } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault()
      pan(event.deltaX / element.clientWidth)
    }
  }

  const ending = new AbortController()
  const { signal } = ending
  element.addEventListener('pointerdown', onDown, { signal })
  element.addEventListener('pointermove', onMove, { signal })
  for (const name of ['pointerup', 'pointercancel'] as const) element.addEventListener(name, onUp, { signal })
  element.addEventListener('wheel', onWheel, { signal, passive: false })
  return () => ending.abort()
}
