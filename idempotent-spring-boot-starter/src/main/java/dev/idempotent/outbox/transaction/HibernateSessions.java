package dev.idempotent.outbox.transaction;

import java.util.Collection;
import java.util.Set;
import java.util.stream.Collectors;

import org.hibernate.FlushMode;
import org.hibernate.engine.spi.SessionImplementor;
import org.springframework.orm.jpa.EntityManagerHolder;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The Hibernate sessions of the calling thread's transactions. Loaded only if Hibernate
 * and Spring's support of JPA are on the class path.
 */
final class HibernateSessions {

	private HibernateSessions() {
	}

	/**
	 * Returns the holders of the sessions in a transaction, which may be an outer one on
	 * another database.
	 */
	static Set<Object> inTransactions() {
		return TransactionSynchronizationManager.getResourceMap()
			.values()
			.stream()
			.filter((resource) -> resource instanceof EntityManagerHolder holder
					&& holder.isSynchronizedWithTransaction())
			.collect(Collectors.toUnmodifiableSet());
	}

	/**
	 * Returns whether pending changes may be flushed now.
	 * @param holders the holders of the sessions
	 * @return {@code false} while a session is flushing, or if the application flushes it
	 * manually
	 */
	static boolean allowFlush(Collection<Object> holders) {
		return holders.stream()
			.allMatch((resource) -> !(resource instanceof EntityManagerHolder holder)
					|| !(holder.getEntityManager().getDelegate() instanceof SessionImplementor session)
					|| allowsFlush(session));
	}

	private static boolean allowsFlush(SessionImplementor session) {
		return session.getHibernateFlushMode() != FlushMode.MANUAL && !session.getPersistenceContext().isFlushing();
	}

}
