package dev.idempotent.outbox;

import java.util.List;
import java.util.stream.Stream;

import dev.idempotent.testing.RealPostgres;

/**
 * The databases on which a class of tests runs.
 */
public enum TestedDatabase {

	H2 {
		@Override
		public List<String> properties(RealPostgres postgres, String name) {
			return List.of("spring.datasource.generate-unique-name=false",
					"spring.datasource.url=jdbc:h2:mem:" + name + ";DB_CLOSE_DELAY=-1");
		}
	},

	POSTGRES {
		@Override
		public List<String> properties(RealPostgres postgres, String name) {
			return postgres.properties();
		}
	};

	/**
	 * PostgreSQL, or H2 with {@code -Plong}.
	 */
	static Stream<TestedDatabase> postgresOrH2() {
		return Stream.of(isLong() ? H2 : POSTGRES);
	}

	/**
	 * H2, or PostgreSQL with {@code -Plong}.
	 */
	static Stream<TestedDatabase> h2OrPostgres() {
		return Stream.of(isLong() ? POSTGRES : H2);
	}

	private static boolean isLong() {
		return System.getProperty("test.databases", "first").equals("second");
	}

	/**
	 * What tells an application where its database is, as {@code name=value}.
	 * @param postgres the server of the test class
	 * @param name of a database in memory, which is shared by all who name it
	 */
	public abstract List<String> properties(RealPostgres postgres, String name);

}
