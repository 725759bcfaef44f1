package dev.idempotent.transaction;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;

/**
 * A row that JPA inserts when it flushes.
 */
@Entity
@Table(name = "observed_row")
class ObservedEntity {

	@Id
	@SuppressWarnings("NullAway.Init")
	private String work;

	private int n;

	protected ObservedEntity() {
	}

	ObservedEntity(String work, int n) {
		this.work = work;
		this.n = n;
	}

	int n() {
		return this.n;
	}

}
