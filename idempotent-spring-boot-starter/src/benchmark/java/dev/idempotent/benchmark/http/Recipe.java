package dev.idempotent.benchmark.http;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import dev.idempotent.benchmark.http.load.Traffic;

/**
 * An application and the requests that it gets.
 *
 * @param source the application's configuration
 * @param parts what it has on its class path
 * @param properties {@code name=value}
 * @param path what is posted to
 * @param traffic the keys of the requests
 * @param clients how many, or 0 for the usual number
 */
record Recipe(Class<?> source, Set<Part> parts, List<String> properties, String path, Traffic traffic, int clients) {

	static Recipe of(Class<?> source, Part... parts) {
		return new Recipe(source, EnumSet.of(Part.BASE, parts), List.of(), "/orders", Traffic.FIRST, 0);
	}

	Recipe with(String... others) {
		List<String> all = Stream.concat(this.properties.stream(), Stream.of(others)).toList();
		return new Recipe(this.source, this.parts, all, this.path, this.traffic, this.clients);
	}

	Recipe at(String other) {
		return new Recipe(this.source, this.parts, this.properties, other, this.traffic, this.clients);
	}

	Recipe replayed() {
		return new Recipe(this.source, this.parts, this.properties, this.path, Traffic.REPLAY, this.clients);
	}

	/**
	 * All clients send the key of a request that is running.
	 */
	Recipe pending() {
		return new Recipe(this.source, this.parts, this.properties, this.path, Traffic.PENDING, this.clients);
	}

	/**
	 * The same with an earlier state of the starter.
	 */
	Recipe withEarlierStarter() {
		Set<Part> others = EnumSet.copyOf(this.parts);
		others.remove(Part.STARTER);
		others.add(Part.EARLIER_STARTER);
		return new Recipe(this.source, others, this.properties, this.path, this.traffic, this.clients);
	}

	Recipe clients(int number) {
		return new Recipe(this.source, this.parts, this.properties, this.path, this.traffic, number);
	}

}
