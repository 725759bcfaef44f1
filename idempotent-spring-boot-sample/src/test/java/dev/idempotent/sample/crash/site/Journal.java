package dev.idempotent.sample.crash.site;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

import org.jspecify.annotations.Nullable;

/**
 * The faults and their times, in milliseconds of this machine's clock.
 */
public final class Journal {

	private final Queue<Trouble> troubles = new ConcurrentLinkedQueue<>();

	private final Map<String, Death> deaths = new ConcurrentHashMap<>();

	/**
	 * Records a fault around an action.
	 */
	public void during(String name, Runnable action) {
		Trouble trouble = new Trouble(name);
		this.troubles.add(trouble);
		try {
			action.run();
		}
		finally {
			trouble.until = System.currentTimeMillis();
		}
	}

	/**
	 * Records the end of a life.
	 */
	public void died(String life, String cause, long at) {
		this.deaths.put(life, new Death(life, cause, at));
	}

	/**
	 * Finds out how a life of an instance has ended.
	 */
	public @Nullable Death deathOf(String life) {
		return this.deaths.get(life);
	}

	/**
	 * All deaths, oldest first.
	 */
	public List<Death> deaths() {
		return this.deaths.values().stream().sorted(Comparator.comparingLong(Death::at)).toList();
	}

	/**
	 * The troubles that fell into a time, oldest first.
	 */
	public List<Trouble> between(long from, long until) {
		return this.troubles.stream().filter((trouble) -> trouble.from <= until && trouble.until >= from).toList();
	}

	/**
	 * Forgets everything.
	 */
	public void clear() {
		this.troubles.clear();
		this.deaths.clear();
	}

	/**
	 * The end of one life of an instance.
	 *
	 * @param life which life of which instance
	 * @param cause why it ended
	 * @param at when
	 */
	public record Death(String life, String cause, long at) {

	}

	/**
	 * A fault with a duration.
	 */
	public static final class Trouble {

		private final String name;

		private final long from = System.currentTimeMillis();

		private volatile long until = Long.MAX_VALUE;

		private Trouble(String name) {
			this.name = name;
		}

		public String name() {
			return this.name;
		}

		public long from() {
			return this.from;
		}

		public long until() {
			return this.until;
		}

		/**
		 * A line for the history of a key.
		 */
		public String describe() {
			return this.name
					+ ((this.until == Long.MAX_VALUE) ? " begins" : " for " + (this.until - this.from) + " ms");
		}

	}

}
