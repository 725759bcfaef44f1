package dev.idempotent.sample.stock;

import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The sales that a test opens.
 */
final class Sales {

	private final List<String> items = new ArrayList<>();

	private final StockLedger ledger;

	private final JdbcClient jdbc;

	private final TransactionTemplate transaction;

	Sales(StockLedger ledger, JdbcClient jdbc, TransactionTemplate transaction) {
		this.ledger = ledger;
		this.jdbc = jdbc;
		this.transaction = transaction;
	}

	/**
	 * Opens a sale of a new item.
	 */
	String open(int stock, int perUser) {
		String item = "item-" + UUID.randomUUID();
		assertThat(this.transaction.<Boolean>execute((status) -> this.ledger.open(new FlashSale(item, stock, perUser))))
			.isTrue();
		this.items.add(item);
		return item;
	}

	StockView view(String item) {
		return this.ledger.view(item).orElseThrow();
	}

	/**
	 * Confirms a reservation with a new order, which is rolled back unless it was held.
	 */
	boolean confirm(Reservations reservations, String reservationId) {
		return this.transaction.execute((status) -> {
			UUID order = UUID.randomUUID();
			this.jdbc.sql("insert into orders (order_id, user_id, item, amount) values (?, 'ann', 'unit', 1)")
				.param(order)
				.update();
			boolean confirmed = reservations.confirm(reservationId, order);
			if (!confirmed) {
				status.setRollbackOnly();
			}
			return confirmed;
		});
	}

	/**
	 * Lets the hold of a reservation end.
	 */
	void expire(String reservationId) {
		this.jdbc.sql("update reservation set expires_at = now() where reservation_id = ?")
			.param(reservationId)
			.update();
	}

	/**
	 * Lets a minute pass since the last change of each owner.
	 */
	void age(String item) {
		this.jdbc.sql("update stock_owner set changed_at = changed_at - interval '1 minute' where item = ?")
			.param(item)
			.update();
	}

	/**
	 * Asserts that each unit that is taken has one live reservation, which its owner has
	 * too.
	 */
	void assertSound() {
		this.items.forEach((item) -> {
			assertThat(differences(item)).isEmpty();
			StockView view = view(item);
			assertThat(view.free() + view.held() + view.confirmed()).isEqualTo(view.sale().stock());
		});
	}

	private List<String> differences(String item) {
		return this.jdbc.sql("""
				select 'shelf ' || shelf from stock_shelf s where item = :item and taken <> (
				  select count(*) from reservation r
				  where r.item = s.item and r.shelf = s.shelf and r.state <> 'ENDED')
				union all
				select 'owner ' || owner from (
				  select owner, unnest(ids) as id from stock_owner where item = :item) as listed
				full join (
				  select owner, reservation_id as id from reservation where item = :item and state <> 'ENDED') as live
				using (owner, id)
				where listed is null or live is null
				""").param("item", item).query(String.class).list();
	}

}
