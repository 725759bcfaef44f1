package dev.idempotent.sample.rush;

import java.util.List;
import java.util.Optional;
import java.util.function.Function;

import dev.idempotent.sample.rush.Findings.Reserved;
import dev.idempotent.sample.stock.GateView;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Looks for contradictions in the rows and the gate of a sale.
 */
final class SaleAuditor {

	private final JdbcClient jdbc;

	private final TransactionTemplate snapshot;

	private final Function<String, Optional<GateView>> gate;

	SaleAuditor(JdbcClient jdbc, PlatformTransactionManager transactions, Function<String, Optional<GateView>> gate) {
		this.jdbc = jdbc;
		this.gate = gate;
		this.snapshot = new TransactionTemplate(transactions);
		this.snapshot.setIsolationLevel(TransactionDefinition.ISOLATION_REPEATABLE_READ);
		this.snapshot.setReadOnly(true);
	}

	/**
	 * Whether an item has a sale.
	 */
	boolean knows(String item) {
		return this.jdbc.sql("select exists (select from flash_sale where item = :item)")
			.param("item", item)
			.query(Boolean.class)
			.single();
	}

	/**
	 * Returns the current state of a sale, whose rows are read as one snapshot.
	 * @param recheck the answers after a rush, or {@code null} without one
	 */
	SaleAudit audit(String item, @Nullable Recheck recheck) {
		Findings findings = this.snapshot.execute((transaction) -> new Findings(shelves(item), orders(item),
				owners(item), notifications(item), reservations(item), free(item), settled(item)));
		return new SaleAudit(item, findings, view(item), recheck);
	}

	private Optional<GateView> view(String item) {
		try {
			return this.gate.apply(item);
		}
		catch (DataAccessException ex) {
			// Without Redis, no unit is sold or lost.
			return Optional.empty();
		}
	}

	private List<String> shelves(String item) {
		return problems(item, """
				select format('shelf %s counts %s of %s units as taken, and has %s live reservations',
				              shelf, coalesce(s.taken, 0), coalesce(s.total, 0), coalesce(r.live, 0))
				from (select shelf, taken, total from stock_shelf where item = :item) s
				     full join (select shelf, count(*) as live from reservation
				                where item = :item and state <> 'ENDED' group by shelf) r
				          using (shelf)
				where coalesce(s.taken, 0) <> coalesce(r.live, 0) or s.taken > s.total
				union all
				select format('the shelves have %s units of %s', coalesce(sum(s.total), 0), f.stock)
				from flash_sale f left join stock_shelf s using (item)
				where item = :item
				group by f.item
				having coalesce(sum(s.total), 0) <> f.stock
				""");
	}

	private List<String> orders(String item) {
		return problems(item, """
				select coalesce('order ' || o.order_id || ' has no confirmed reservation',
				                'a confirmed reservation of ' || r.owner || ' has no order')
				from (select owner, order_id from reservation where item = :item and state = 'CONFIRMED') r
				     full join (select user_id, order_id from orders where item = :item and amount = 1) o
				          on o.order_id = r.order_id and o.user_id = r.owner
				where o.order_id is null or r.order_id is null
				""");
	}

	private List<String> owners(String item) {
		return problems(item, """
				select format('%s has %s live reservations of %s, and a list of %s',
				              owner, coalesce(cardinality(r.ids), 0),
				              (select per_user from flash_sale where item = :item),
				              coalesce(cardinality(o.ids), 0))
				from (select owner, array(select unnest(ids) order by 1) as ids from stock_owner where item = :item) o
				     full join (select owner, array_agg(reservation_id order by reservation_id) as ids
				                from reservation where item = :item and state <> 'ENDED' group by owner) r
				          using (owner)
				where coalesce(o.ids, '{}') <> coalesce(r.ids, '{}')
				   or cardinality(r.ids) > (select per_user from flash_sale where item = :item)
				""");
	}

	private List<String> notifications(String item) {
		return problems(item, """
				select format('order %s has %s notifications', o.order_id, count(n.notification_id))
				from orders o left join notification n on n.order_id = o.order_id and n.type = 'order.created'
				where o.item = :item
				group by o.order_id
				having count(n.notification_id) <> 1
				""");
	}

	private List<String> problems(String item, String sql) {
		return this.jdbc.sql(sql).param("item", item).query(String.class).list();
	}

	private List<Reserved> reservations(String item) {
		return this.jdbc.sql("select reservation_id, owner, state, order_id::text from reservation where item = :item")
			.param("item", item)
			.query(Reserved.class)
			.list();
	}

	private int free(String item) {
		return this.jdbc.sql("select coalesce(sum(total - taken), 0) from stock_shelf where item = :item")
			.param("item", item)
			.query(Integer.class)
			.single();
	}

	/**
	 * An expired hold is gone after a second, the gate is right after five, and an event
	 * is handled after a few.
	 */
	private boolean settled(String item) {
		return this.jdbc.sql("""
				select coalesce(max(expires_at) + interval '20 seconds' < now(), true)
				from reservation where item = :item
				""").param("item", item).query(Boolean.class).single();
	}

}
