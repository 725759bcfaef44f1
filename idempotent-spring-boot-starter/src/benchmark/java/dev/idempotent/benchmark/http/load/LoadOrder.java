package dev.idempotent.benchmark.http.load;

import java.time.Duration;

/**
 * What the generator is asked for.
 *
 * @param port where the application is
 * @param path what is posted to
 * @param traffic the keys of the requests
 * @param clients how many connections
 * @param bytes the size of a request's body, at least
 * @param perSecond how many requests in a second; 0 if each client sends its next request
 * as soon as it has a response
 * @param count how many requests; 0 for as many as there are in the time
 * @param time how long, if there is no count
 */
public record LoadOrder(int port, String path, Traffic traffic, int clients, int bytes, int perSecond, int count,
		Duration time) {

	static LoadOrder parse(String line) {
		String[] parts = line.split(" ", -1);
		return new LoadOrder(Integer.parseInt(parts[0]), parts[1], Traffic.valueOf(parts[2]),
				Integer.parseInt(parts[3]), Integer.parseInt(parts[4]), Integer.parseInt(parts[5]),
				Integer.parseInt(parts[6]), Duration.parse(parts[7]));
	}

	/**
	 * The line that asks for it.
	 */
	@Override
	public String toString() {
		return "%d %s %s %d %d %d %d %s".formatted(this.port, this.path, this.traffic, this.clients, this.bytes,
				this.perSecond, this.count, this.time);
	}

}
