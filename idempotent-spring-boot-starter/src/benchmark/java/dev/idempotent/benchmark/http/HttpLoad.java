package dev.idempotent.benchmark.http;

import java.time.Duration;

import dev.idempotent.benchmark.http.load.LoadOrder;
import dev.idempotent.benchmark.http.load.LoadResult;

/**
 * The load that all contenders get.
 *
 * @param generator the JVM that sends the requests
 * @param clients how many, for a contender that does not need another number
 * @param bytes the size of a body
 * @param perSecond how many requests in a second; 0 for as many as possible
 * @param count how many requests; 0 for as many as there are in the time
 * @param time how long, if there is no count
 */
record HttpLoad(ChildJvm generator, int clients, int bytes, int perSecond, int count, Duration time) {

	/**
	 * A share of the time, or of the number.
	 */
	HttpLoad slice(int slices) {
		return new HttpLoad(this.generator, this.clients, this.bytes, this.perSecond, this.count / slices,
				this.time.dividedBy(slices));
	}

	/**
	 * As many requests as there are in a time.
	 */
	HttpLoad ofMillis(int millis) {
		return new HttpLoad(this.generator, this.clients, this.bytes, 0, 0, Duration.ofMillis(millis));
	}

	/**
	 * A number of requests of one client.
	 */
	HttpLoad sequential(int number) {
		return new HttpLoad(this.generator, 1, this.bytes, 0, number, this.time);
	}

	/**
	 * A constant rate.
	 */
	HttpLoad paced(int rate, Duration duration) {
		return new HttpLoad(this.generator, this.clients, this.bytes, rate, 0, duration);
	}

	LoadResult send(int port, Recipe recipe) {
		int number = (recipe.clients() > 0 && this.clients > 1) ? recipe.clients() : this.clients;
		return LoadResult.parse(this.generator.ask(new LoadOrder(port, recipe.path(), recipe.traffic(), number,
				this.bytes, this.perSecond, this.count, this.time)
			.toString()));
	}

}
