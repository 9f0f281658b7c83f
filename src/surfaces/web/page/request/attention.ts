import { useSignal, type Signal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { look, unseen, type Attention } from "./seen.ts";

const POLL_MS = 100;

/** Watches how much was seen, and whether it lies still. Intersections ignore what lies above, so the page says what covers the end. */
export function useAttention(
  article: RefObject<HTMLElement | null>,
  end: RefObject<HTMLElement | null>,
  choices: RefObject<HTMLElement | null>,
  /** The thing to read: another one has to be seen anew. */
  subject: string,
): { attention: Signal<Attention>; refresh(): Attention } {
  const attention = useSignal(unseen(performance.now()));
  const of = useRef(subject);
  if (of.current !== subject) {
    of.current = subject;
    attention.value = unseen(performance.now());
  }
  const refresh = (): Attention => {
    const box = article.current?.getBoundingClientRect();
    if (!box) return attention.peek();
    const place = [box.top, box.left, box.width, choices.current?.getBoundingClientRect().top ?? 0].map(Math.round);
    const visible = document.visibilityState === "visible";
    const next = look(
      attention.peek(),
      {
        end: isInView(article.current?.querySelector<HTMLElement>(".together .end") ?? end.current, article.current),
        visible,
        place: place.join(),
      },
      performance.now(),
    );
    const before = attention.peek();
    if (next.seen !== before.seen || next.endSince !== before.endSince || next.place !== before.place)
      attention.value = next;
    return next;
  };
  useLayoutEffect(() => void refresh(), []);
  useEffect(() => {
    const timer = setInterval(refresh, POLL_MS);
    return () => clearInterval(timer);
  }, []);
  return { attention, refresh };
}

function isInView(end: HTMLElement | null, article: HTMLElement | null): boolean {
  if (!end || !article) return false;
  const { left, top, bottom, width } = end.getBoundingClientRect();
  if (top < 0 || bottom > innerHeight) return false;
  return [0.1, 0.5, 0.9].every((share) => {
    const found = document.elementFromPoint(left + width * share, (top + bottom) / 2);
    return found !== null && article.contains(found);
  });
}
