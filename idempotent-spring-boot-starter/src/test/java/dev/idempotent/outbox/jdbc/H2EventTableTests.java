package dev.idempotent.outbox.jdbc;

/**
 * Tests for {@link EventTable} on H2.
 */
class H2EventTableTests extends AbstractEventTableTests {

	private static final Fixture fixture = Fixture.inMemory();

	@Override
	Fixture fixture() {
		return fixture;
	}

}
