package dev.idempotent.autoconfigure.saga;

import javax.sql.DataSource;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.autoconfigure.TableScript;
import dev.idempotent.saga.jdbc.JdbcSagaStore;
import dev.idempotent.saga.jdbc.SagaTables;
import dev.idempotent.work.RootCause;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.dao.DataAccessException;

/**
 * Creates the tables of sagas, and checks that they exist.
 */
final class SagaSchema {

	private static final Logger logger = LoggerFactory.getLogger(SagaSchema.class);

	private SagaSchema() {
	}

	static TableScript script(DataSource dataSource, DatabaseInitializationMode mode, SagaTables tables) {
		return new TableScript(dataSource, mode, JdbcSagaStore.class, tables::named,
				(product) -> new IdempotentConfigurationException("Sagas are not supported on " + product + ".",
						"Use PostgreSQL, MySQL, MariaDB or H2, or omit idempotent.saga.initialize-schema.", null));
	}

	/**
	 * Requires the tables. A database that does not answer may have them.
	 * @throws IdempotentConfigurationException if they are missing
	 */
	static void require(JdbcSagaStore store) {
		try {
			store.verify();
		}
		catch (DataAccessException ex) {
			logger.warn("The database does not answer, so the tables of sagas could not be checked: {}",
					RootCause.of(ex));
			logger.debug("The stack trace of the failure above", ex);
		}
	}

}
