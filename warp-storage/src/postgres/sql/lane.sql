            json_build_object(
                'id', l.lane, 'route', json_build_object('queue', l.queue, 'kind', l.kind), 'keys', i.keys::json,
                'sleep_family', l.sleep_family, 'sleep_key', l.sleep_key, 'next_at', l.next_at, 'refusals', l.refusals,
                'rank', l.head_rank, 'place', l.head_place, 'head', l.head, 'stamp', j.stamp)
