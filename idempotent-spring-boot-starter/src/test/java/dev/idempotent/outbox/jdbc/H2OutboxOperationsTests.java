package dev.idempotent.outbox.jdbc;

/**
 * Tests for the operations of operators on H2.
 */
class H2OutboxOperationsTests extends AbstractOutboxOperationsTests {

	private static final Fixture fixture = Fixture.inMemory();

	@Override
	Fixture fixture() {
		return fixture;
	}

}
