package dev.idempotent.transition;

import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

/**
 * The allowed transitions between the constants of an enum. Immutable.
 *
 * @param <S> the enum
 */
public final class Transitions<S extends Enum<S>> {

	private final Class<S> type;

	private final Map<S, Set<S>> targets;

	private Transitions(Class<S> type, Map<S, Set<S>> targets) {
		this.type = type;
		this.targets = targets;
	}

	/**
	 * Begins a table of transitions.
	 * @param <S> the enum
	 * @param type the class of the enum
	 * @return a builder without any transition
	 */
	public static <S extends Enum<S>> Builder<S> of(Class<S> type) {
		return new Builder<>(type);
	}

	/**
	 * Returns the class of the states.
	 * @return the class of the enum
	 */
	public Class<S> type() {
		return this.type;
	}

	/**
	 * Returns the states that may follow a state.
	 * @param from the state to leave
	 * @return an unmodifiable set, empty for a final state
	 */
	public Set<S> targetsOf(S from) {
		return this.targets.getOrDefault(from, Set.of());
	}

	/**
	 * Checks a transition.
	 * @param from the state to leave
	 * @param to the next state
	 * @return the next state
	 * @throws IllegalTransitionException if it may not follow
	 */
	public S require(S from, S to) {
		Set<S> allowed = targetsOf(from);
		if (!allowed.contains(to)) {
			throw new IllegalTransitionException(from, to, allowed);
		}
		return to;
	}

	/**
	 * Collects transitions.
	 *
	 * @param <S> the enum
	 */
	public static final class Builder<S extends Enum<S>> {

		private final Class<S> type;

		private final Map<S, Set<S>> targets;

		private Builder(Class<S> type) {
			this.type = type;
			this.targets = new EnumMap<>(type);
		}

		/**
		 * Allows transitions from one state.
		 * @param from the state to leave
		 * @param to a state that may follow
		 * @param others further states that may follow
		 * @return this builder
		 * @throws IllegalArgumentException if a state would follow itself: each of many
		 * callers would succeed
		 */
		@SafeVarargs
		public final Builder<S> allow(S from, S to, S... others) {
			EnumSet<S> added = EnumSet.of(to);
			for (S other : others) {
				added.add(other);
			}
			if (added.contains(from)) {
				throw new IllegalArgumentException("%s.%s cannot follow itself: a transition leads to another state"
					.formatted(this.type.getSimpleName(), from.name()));
			}
			this.targets.computeIfAbsent(from, (state) -> EnumSet.noneOf(this.type)).addAll(added);
			return this;
		}

		/**
		 * Builds the table.
		 * @return the transitions
		 * @throws IllegalArgumentException if there is a state that no transition leaves
		 * or enters
		 */
		public Transitions<S> build() {
			EnumSet<S> unconnected = EnumSet.allOf(this.type);
			Map<S, Set<S>> built = new EnumMap<>(this.type);
			this.targets.forEach((from, to) -> {
				unconnected.remove(from);
				unconnected.removeAll(to);
				built.put(from, Collections.unmodifiableSet(EnumSet.copyOf(to)));
			});
			if (!unconnected.isEmpty()) {
				throw new IllegalArgumentException(
						"No transition of %s leaves or enters %s: allow one for each, or remove the constant"
							.formatted(this.type.getName(), unconnected.stream().map(Enum::name).toList()));
			}
			return new Transitions<>(this.type, built);
		}

	}

}
