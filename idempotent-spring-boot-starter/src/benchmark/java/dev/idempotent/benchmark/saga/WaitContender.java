package dev.idempotent.benchmark.saga;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import dev.idempotent.benchmark.Contender;
import dev.idempotent.benchmark.Database;

/**
 * An application that has nothing to do, beside methods that wait for a signal, and
 * another one on the same database that only sends signals.
 */
interface WaitContender extends Contender {

	/**
	 * The database of both.
	 */
	Database database();

	/**
	 * Lets a method wait, and sends the signal.
	 * @param elsewhere whether the other application sends it
	 * @return the time from before the commit of the signal to the next step
	 */
	Duration signal(boolean elsewhere);

	/**
	 * A method has begun to wait just after its application has looked for signals, which
	 * some do at an interval.
	 */
	static void pauseAtRandom() {
		LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(TimeUnit.MILLISECONDS.toNanos(500)));
	}

}
