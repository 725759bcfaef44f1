package dev.idempotent.outbox.jdbc;

/**
 * Tests for {@link JdbcOrderedStore} on H2.
 */
class H2OrderedStoreTests extends JdbcOrderedStoreContract {

	@Override
	StoreOnTables create(String name) {
		return StoreOnTables.inMemory();
	}

}
