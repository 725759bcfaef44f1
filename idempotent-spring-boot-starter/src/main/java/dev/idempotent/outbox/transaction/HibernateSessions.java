package dev.idempotent.outbox.transaction;

import org.hibernate.FlushMode;
import org.hibernate.engine.spi.SessionImplementor;
import org.springframework.orm.jpa.EntityManagerHolder;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The Hibernate sessions of the calling thread's transaction. Loaded only if Hibernate
 * and Spring's support of JPA are on the class path.
 */
final class HibernateSessions {

	private HibernateSessions() {
	}

	/**
	 * Returns whether pending changes may be flushed now.
	 * @return {@code false} while a session is flushing, or if the application flushes it
	 * manually
	 */
	static boolean allowFlush() {
		return TransactionSynchronizationManager.getResourceMap()
			.values()
			.stream()
			.allMatch((resource) -> !(resource instanceof EntityManagerHolder holder)
					|| !(holder.getEntityManager().getDelegate() instanceof SessionImplementor session)
					|| allowsFlush(session));
	}

	private static boolean allowsFlush(SessionImplementor session) {
		return session.getHibernateFlushMode() != FlushMode.MANUAL && !session.getPersistenceContext().isFlushing();
	}

}
