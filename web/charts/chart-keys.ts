/** Keyboard control of charts. */

export type KeyAction =
  | { readonly kind: 'step'; readonly points: number }
  | { readonly kind: 'leap'; readonly share: number }
  | { readonly kind: 'end'; readonly isLast: boolean }
  | { readonly kind: 'pan'; readonly share: number }
  | { readonly kind: 'zoom'; readonly factor: number }
  | { readonly kind: 'reset' }

/** The fields of a KeyboardEvent that are read. */
interface Key {
  readonly key: string
  readonly shiftKey: boolean
  readonly ctrlKey: boolean
  readonly altKey: boolean
  readonly metaKey: boolean
}

const actions: Record<string, KeyAction> = {
  ArrowLeft: { kind: 'step', points: -1 },
  ArrowRight: { kind: 'step', points: 1 },
  PageUp: { kind: 'leap', share: -0.1 },
  PageDown: { kind: 'leap', share: 0.1 },
  Home: { kind: 'end', isLast: false },
  End: { kind: 'end', isLast: true },
  '+': { kind: 'zoom', factor: 0.5 },
  '=': { kind: 'zoom', factor: 0.5 },
  '-': { kind: 'zoom', factor: 2 },
  '0': { kind: 'reset' },
}

const shifted: Record<string, KeyAction> = {
  ...actions,
  ArrowLeft: { kind: 'pan', share: -0.25 },
  ArrowRight: { kind: 'pan', share: 0.25 },
}

/** Undefined for any other key. The browser handles keys with Ctrl, Alt or Meta. */
export function keyAction({ key, shiftKey, ctrlKey, altKey, metaKey }: Key): KeyAction | undefined {
  if (ctrlKey || altKey || metaKey) return undefined
  return (shiftKey ? shifted : actions)[key]
}

/** Moves the cursor from point to point, or by a share of the window. */
export function moveCursor(
  action: Extract<KeyAction, { kind: 'step' | 'leap' | 'end' }>,
  atMs: number | undefined,
  timesMs: readonly number[],
): number | undefined {
  const last = timesMs.length - 1
  if (last < 0) return undefined
  if (action.kind === 'end') return timesMs[action.isLast ? last : 0]
  // Without a position, the cursor begins at the newest point.
  if (atMs === undefined) return timesMs[last]
  const before = timesMs.findLastIndex(timeMs => timeMs <= atMs)
  const distance =
    action.kind === 'step' ? action.points : Math.round(action.share * timesMs.length) || Math.sign(action.share)
  const isBetween = timesMs[before] !== atMs && distance < 0
  return timesMs[Math.min(last, Math.max(0, before + distance + (isBetween ? 1 : 0)))]
}
